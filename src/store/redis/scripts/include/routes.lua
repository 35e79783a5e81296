-- Routes by queue.

-- @include replies

-- '-' is every queue; behind '=' is the one that is wanted.
local function routesOf(queue)
  local names = {}
  for _, route in ipairs(call('SMEMBERS', key('routes'))) do
    if isWanted(queue, match(route, '^([^%z]*)')) then names[#names + 1] = route end
  end
  return names
end

local function isOf(row, tenant, kind)
  local h = decodeRow(row)
  return h ~= DAMAGED and isWanted(tenant, h.tenant) and (kind == '' or tonumber(kind) == h.kind)
end
