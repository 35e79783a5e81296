-- A record of the server's time of the call, unless another time is given.

-- @include records

local kind, owner, keptMs = take(), take(), takeNumber()
local now = takeNumber() or serverNow()
putRecord({ kind = kind, key = owner, expire = int(now + keptMs), value = int(now) }, now)
return 1
