-- A Wireshark dissector of cardlink. Its first tables are made from those of docs/cardlink.md by
-- `python -m tools.generate`.
--
-- Copy it into Wireshark's folder of personal Lua plugins (Help, About, Folders), or name it: tshark -X
-- lua_script:cardlink.lua. It reads TCP port 4001, USB bulk endpoints of classes FF and 0A, and what "Decode As" is set
-- to. Sealed bodies stay sealed: `cardshoe capture show` opens them with the device's key (docs/captures.md).

local KINDS = {
  [0x01] = "hello",
  [0x02] = "identity",
  [0x03] = "host proof",
  [0x04] = "device proof",
  [0x05] = "resume",
  [0x06] = "reject",
  [0x07] = "sealed reject",
  [0x10] = "ack",
  [0x20] = "report",
  [0x21] = "status",
  [0x30] = "command",
  [0x31] = "answer",
  [0x40] = "challenge",
  [0x41] = "attestation",
}
local CLEAR = {
  [0x01] = true,
  [0x02] = true,
  [0x03] = true,
  [0x04] = true,
  [0x06] = true,
}
local FIELDS = { -- of the bodies in the clear
  [0x01] = { "version", "nonce" },
  [0x02] = { "version", "kind", "unit", "maker", "model", "serial", "firmware", "firmware_digest", "capabilities", "report_memory", "simulated", "deck_size", "nonce", "kept", "versions" },
  [0x03] = { "type", "proof" },
  [0x04] = { "type", "proof" },
  [0x06] = { "code", "text" },
}
local SMALLEST, LARGEST, SMALLEST_SEALED, RESIDUE = 15, 512, 35, 0x2144DF1C
local HEADER, COUNTER, TAG, CRC = 11, 4, 16, 4

local cardlink = Proto("cardlink", "cardlink")
local field = {
  version = ProtoField.uint8("cardlink.version", "Version"),
  kind = ProtoField.uint8("cardlink.kind", "Kind", base.HEX, KINDS),
  flags = ProtoField.uint8("cardlink.flags", "Flags"),
  boot = ProtoField.uint32("cardlink.boot", "Boot", base.HEX),
  number = ProtoField.uint32("cardlink.number", "Number"),
  body = ProtoField.bytes("cardlink.body", "Body"),
  counter = ProtoField.uint32("cardlink.counter", "Counter"),
  ciphertext = ProtoField.bytes("cardlink.ciphertext", "Ciphertext"),
  tag = ProtoField.bytes("cardlink.tag", "Tag"),
  crc = ProtoField.uint32("cardlink.crc", "CRC", base.HEX),
}
cardlink.fields = field
local damaged = ProtoExpert.new("cardlink.damaged", "Damaged frame", expert.group.CHECKSUM, expert.severity.WARN)
local not_understood =
  ProtoExpert.new("cardlink.not_understood", "Body not understood", expert.group.MALFORMED, expert.severity.WARN)
cardlink.experts = { damaged, not_understood }

local function xor(one, other)
  local result, place = 0, 1
  while one > 0 or other > 0 do
    local first, second = one % 2, other % 2
    if first ~= second then
      result = result + place
    end
    one, other, place = (one - first) / 2, (other - second) / 2, place * 2
  end
  return result
end

local CRC_OF_BYTE = {}
for byte = 0, 255 do
  local value = byte
  for _ = 1, 8 do
    value = value % 2 == 1 and xor((value - 1) / 2, 0xEDB88320) or value / 2
  end
  CRC_OF_BYTE[byte] = value
end

local function crc32(bytes)
  local value = 0xFFFFFFFF
  for at = 1, #bytes do
    local low = value % 256
    value = xor((value - low) / 256, CRC_OF_BYTE[xor(low, bytes:byte(at))])
  end
  return xor(value, 0xFFFFFFFF)
end

-- MessagePack: each function returns a value as text and where the next one begins.
local read

local function array(frame, at, elements)
  local texts = {}
  for element = 1, elements do
    texts[element], at = read(frame, at)
  end
  return "[" .. table.concat(texts, ", ") .. "]", at
end

local function text(frame, at, size)
  return size == 0 and '""' or '"' .. frame(at, size):string(ENC_UTF_8) .. '"', at + size
end

local function bin(frame, at, size)
  return size == 0 and "" or tostring(frame(at, size):bytes()):lower(), at + size
end

local function integer(frame, at, size)
  return tostring(size == 8 and frame(at, size):uint64() or frame(at, size):uint()), at + size
end

local OF_SIZE = { -- by head: what follows, and how many bytes its size has
  [0xC4] = { bin, 1 }, [0xC5] = { bin, 2 }, [0xD9] = { text, 1 }, [0xDA] = { text, 2 }, [0xDC] = { array, 2 },
}
local INTEGERS = { [0xCC] = 1, [0xCD] = 2, [0xCE] = 4, [0xCF] = 8 }
local CONSTANTS = { [0xC0] = "nil", [0xC2] = "false", [0xC3] = "true" }

function read(frame, at)
  local head = frame(at, 1):uint()
  if head < 0x80 then
    return tostring(head), at + 1
  elseif head >= 0x90 and head < 0xA0 then
    return array(frame, at + 1, head - 0x90)
  elseif head >= 0xA0 and head < 0xC0 then
    return text(frame, at + 1, head - 0xA0)
  elseif CONSTANTS[head] then
    return CONSTANTS[head], at + 1
  elseif INTEGERS[head] then
    return integer(frame, at + 1, INTEGERS[head])
  elseif OF_SIZE[head] then
    local follows, size = OF_SIZE[head][1], OF_SIZE[head][2]
    return follows(frame, at + 1 + size, frame(at + 1, size):uint())
  end
  error("no body has this byte")
end

local function add_body(frame, kind, first, last, tree)
  local head = frame(first, 1):uint()
  if head < 0x90 or head >= 0xA0 then
    error("no array")
  end
  local at = first + 1
  for element = 1, head - 0x90 do
    local name, value, next_at = FIELDS[kind][element] or "unknown", read(frame, at)
    tree:add(frame(at, next_at - at), name .. ": " .. value)
    at = next_at
  end
  if at ~= last then
    error("another length")
  end
end

local function add_frame(bytes, tree)
  local frame = ByteArray.new(bytes, true):tvb("cardlink frame")
  local size = frame:len()
  local shown = tree:add(cardlink, frame(), "cardlink")
  if size < SMALLEST or size > LARGEST or crc32(bytes) ~= RESIDUE then
    shown:append_text(", damaged, " .. size .. " bytes")
    shown:add_proto_expert_info(damaged)
    return "damaged"
  end
  local kind, last = frame(1, 1):uint(), size - CRC
  local name = KINDS[kind] or string.format("kind %02X", kind)
  shown:append_text(", " .. name)
  shown:add(field.version, frame(0, 1))
  shown:add(field.kind, frame(1, 1))
  shown:add(field.flags, frame(2, 1))
  shown:add_le(field.boot, frame(3, 4))
  shown:add_le(field.number, frame(7, 4))
  if CLEAR[kind] then
    if last > HEADER then
      local body = shown:add(field.body, frame(HEADER, last - HEADER))
      if not pcall(add_body, frame, kind, HEADER, last, body) then
        body:add_proto_expert_info(not_understood)
      end
    end
  elseif size >= SMALLEST_SEALED then
    local from = HEADER + COUNTER
    shown:add_le(field.counter, frame(HEADER, COUNTER))
    if last - TAG > from then
      shown:add(field.ciphertext, frame(from, last - TAG - from))
    end
    shown:add(field.tag, frame(last - TAG, TAG))
  end
  shown:add_le(field.crc, frame(last, CRC))
  return name
end

function cardlink.dissector(buffer, packet, tree)
  local data, at, names, closed = buffer:raw(), 1, {}, false -- closed: the delimiter at `at` ends a frame
  while true do
    local first = data:find("\xC0", at, true)
    if not first or (closed and first == #data) then
      break
    end
    local last = data:find("\xC0", first + 1, true)
    if not last then
      if packet.can_desegment > 0 then
        packet.desegment_offset, packet.desegment_len = first - 1, DESEGMENT_ONE_MORE_SEGMENT
      end
      break
    end
    closed = last > first + 1
    if closed then
      local escaped = data:sub(first + 1, last - 1)
      local bytes = escaped:gsub("\xDB[\xDC\xDD]", { ["\xDB\xDC"] = "\xC0", ["\xDB\xDD"] = "\xDB" })
      names[#names + 1] = add_frame(bytes, tree)
    end
    at = last
  end
  if #names > 0 then
    packet.cols.protocol = "cardlink"
    packet.cols.info = table.concat(names, ", ")
  end
  return #data
end

DissectorTable.get("tcp.port"):add(4001, cardlink)
for _, class in ipairs({ 0xFF, 0x0A }) do
  DissectorTable.get("usb.bulk"):add(class, cardlink)
end
