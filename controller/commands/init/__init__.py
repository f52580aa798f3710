"""`cardshoe init`: the working folder of a table, from a few questions.

init_command  the options and the order of the questions
answers       each answer, given as an option or at a prompt
folder        the folder, which is checked before it is in place
system        the files for systemd and udev, and the script that installs them
"""
