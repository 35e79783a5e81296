-- Tenants by name with what was pruned of theirs.

-- @include base

local from, limit = take(), take()
local reply = {}
for i, tenant in ipairs(call('ZRANGEBYLEX', key('pruned:tenants'), from, '+', 'LIMIT', 0, limit)) do
  reply[i] = { tenant, call('HGETALL', key('pruned:by-tenant:' .. tenant)) }
end
return reply
