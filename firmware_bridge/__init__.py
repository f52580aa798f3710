"""Card shoes and shufflers: what they report, which commands they accept, and how they are connected.

This package knows nothing of games. In the order in which to read it:

    cards, observations,     what a device reports and accepts, in the same form for every driver; the controller
    capabilities, commands   journals these and judges them
    messages, plain_text     texts for people, and texts from devices that are made safe to show
    errors                   the errors that leave this package, and how a log describes any exception
    drivers/base             what a driver is: bytes in, bytes out, what it heard; no I/O, no clock, no randomness
    drivers/setting, memory  what a driver is made from, and what drivers keep from one link to the next
    drivers/registry         the drivers by name, those of other packages among them; `detect` guesses a wrong one
    drivers/one_way          the base of drivers for devices that only send: `angel_eye`, `bee_tek`, `line_reader`
    drivers/cardlink/        the project's own protocol; its `__init__` says which module does what
    transports/              what carries the bytes: serial ports, TCP, USB; `base` says what a transport is
    device_url               where a device is and which protocol it speaks
    link, link_keeper        one connection from opening to its end; connecting again whenever one has ended
    usb_bus, discovery,      what is plugged in, when something is plugged in, and which device answers there
    hotplug, identify
    device_keys, card_table  the files with the keys of devices, and with the cards of a line reader
    captures/                files with the traffic of a link: recording, reading, replaying
    allowance                a rate limit, which the controller uses as well

Bytes go up from a transport through `link` to the driver; what the driver heard goes from `link` to the controller.
Only `link_keeper` connects. tests/protocol tests drivers, tests/link and tests/usb links and transports.
"""
