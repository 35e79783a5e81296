-- Counts and what was pruned, of all tenants or of one.

-- @include base

local tenant = take()
local suffix = tenant == '-' and '' or ':by-tenant:' .. sub(tenant, 2)
return { call('HGETALL', key('counts' .. suffix)), call('HGETALL', key('pruned' .. suffix)) }
