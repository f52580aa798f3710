"""Messages to people. The device's side makes them as well, so that they are defined in `firmware_bridge.messages`."""

from firmware_bridge.messages import DEEPEST as DEEPEST
from firmware_bridge.messages import ENDS as ENDS
from firmware_bridge.messages import JOINTS as JOINTS
from firmware_bridge.messages import LONGEST as LONGEST
from firmware_bridge.messages import SLOT as SLOT
from firmware_bridge.messages import AnyText as AnyText
from firmware_bridge.messages import Argument as Argument
from firmware_bridge.messages import Message as Message
from firmware_bridge.messages import MessageError as MessageError
from firmware_bridge.messages import all_of as all_of
from firmware_bridge.messages import counted as counted
from firmware_bridge.messages import english as english
from firmware_bridge.messages import message as message
from firmware_bridge.messages import rendered as rendered
from firmware_bridge.messages import sentences as sentences
from firmware_bridge.messages import text_in_english as text_in_english
