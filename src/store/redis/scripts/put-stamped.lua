-- A record of the server's time of the call, unless another time is given.

-- @include records

local kind, name, lifetimeMs = take(), take(), takeNumber()
local now = takeNumber() or serverNow()
putRecord({ kind = kind, key = name, expire = int(now + lifetimeMs), value = int(now) }, now)
return 1
