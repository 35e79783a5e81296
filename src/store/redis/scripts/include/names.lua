-- The order of names, and the tenant of a lane.

-- @include base

-- Lua compares texts by the locale of the server; by bytes only where that is plain.
local isPlain = not ('a' < 'B')
local function isBefore(a, b)
  if isPlain then return a < b end
  for i = 1, min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

local function tenantOf(lane) return match(lane, '^[^/]*') end
