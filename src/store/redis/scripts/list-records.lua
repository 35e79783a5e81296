-- Records of a kind in the order of keys: key and text of each.

-- @include records

local kind, isNewest, from, limit = take(), takeFlag(), take(), take()
local command, to = isNewest and 'ZREVRANGEBYLEX' or 'ZRANGEBYLEX', isNewest and '-' or '+'
local list = call(command, key(recordNamesKey(kind)), from, to, 'LIMIT', 0, limit)
local reply = {}
for i, text in ipairs(fetch('HMGET', recordsKey(kind), list)) do
  reply[#reply + 1] = list[i]
  reply[#reply + 1] = text
end
return reply
