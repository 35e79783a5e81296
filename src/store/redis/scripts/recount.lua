-- How many counts differ from the jobs there are; nothing when there are more rows than one script
-- may read. Puts them right if asked to.

-- @include codec
-- @include counts

local limit, isRepair = takeNumber(), takeFlag()
if call('HLEN', key('jobs')) > limit then return false end
local actual, isRunning = { counts = {}, ['counts:waiting'] = {} }, {}
for _, seq in ipairs(call('HKEYS', key('leases'))) do isRunning[seq] = true end

local function add(name, field)
  if not actual[name] then actual[name] = {} end
  actual[name][field] = (actual[name][field] or 0) + 1
end

local rows = call('HGETALL', key('jobs'))
for i = 1, #rows, 2 do
  local h = decodeRow(rows[i + 1])
  local state = isRunning[rows[i]] and RUNNING or h.state
  local field = countField(h.route, h.kind, state)
  add('counts', field)
  add('counts:by-tenant:' .. h.tenant, field)
  if state == WAITING then add('counts:waiting', h.queue) end
end
for _, tenant in ipairs(call('ZRANGE', key('tenants'), 0, -1)) do
  local name = 'counts:by-tenant:' .. tenant
  actual[name] = actual[name] or {}
end

local wrong = 0
local function correct(name, field, n)
  wrong = wrong + 1
  if not isRepair then return end
  if n then call('HSET', key(name), field, n) else call('HDEL', key(name), field) end
end
for name, fields in pairs(actual) do
  local stored, flat = {}, call('HGETALL', key(name))
  for i = 1, #flat, 2 do stored[flat[i]] = tonumber(flat[i + 1]) end
  for field, n in pairs(fields) do
    if stored[field] ~= n then correct(name, field, n) end
  end
  for field in pairs(stored) do
    if not fields[field] then correct(name, field, nil) end
  end
end
for name in pairs(isRepair and actual or {}) do
  local tenant = match(name, '^counts:by%-tenant:(.*)$')
  if tenant and call('EXISTS', key(name)) == 0 then call('ZREM', key('tenants'), tenant) end
  if tenant and call('EXISTS', key(name)) == 1 then call('ZADD', key('tenants'), 0, tenant) end
end
return wrong
