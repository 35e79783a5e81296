-- Tenants by name with their counts.

-- @include base

local isNewest, from, skip, limit = takeFlag(), take(), take(), take()
local command, to = isNewest and 'ZREVRANGEBYLEX' or 'ZRANGEBYLEX', isNewest and '-' or '+'
local reply = {}
for i, tenant in ipairs(call(command, key('tenants'), from, to, 'LIMIT', skip, limit)) do
  reply[i] = { tenant, call('HGETALL', key('counts:by-tenant:' .. tenant)) }
end
return reply
