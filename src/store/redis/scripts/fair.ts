// core/fair in the server: lanes in the order of their names, one job a turn.

export const ordering = String.raw`
-- Lua compares texts by the locale of the server; by bytes only where that is plain.
local isPlain = not ('a' < 'B')
local function isBefore(a, b)
  if isPlain then return a < b end
  local n = min(#a, #b)
  for i = 1, n do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

-- Lanes behind the cursor first, then those up to it.
local function ringFrom(names, cursor)
  sort(names, isBefore)
  local ring = {}
  for i = 1, #names do
    if isBefore(cursor, names[i]) then ring[#ring + 1] = names[i] end
  end
  for i = 1, #names - #ring do ring[#ring + 1] = names[i] end
  return ring
end

-- A lane holds places: seq, rank, the line and key it was found under.
local function inRank(lane)
  local isSorted = true
  for i = 2, #lane do
    local a, b = lane[i - 1], lane[i]
    if a.rank > b.rank or (a.rank == b.rank and a.seq > b.seq) then isSorted = false end
  end
  if isSorted then return end
  -- Numbers of one width: comparing them as texts is the same in every locale.
  sort(lane, function(a, b)
    if a.rank ~= b.rank then return a.rank < b.rank end
    return a.seq < b.seq
  end)
end

-- Answers with the jobs in turn, the lane served last, and how many each lane gave.
local function takeTurns(ring, lanes, limit)
  local taken, counts, last, n = {}, {}, nil, 0
  for i = 1, #ring do counts[i] = 0 end
  for round = 1, limit do
    local before = n
    for i = 1, #ring do
      local job = lanes[ring[i]][round]
      if job then
        n = n + 1
        taken[n] = job
        counts[i] = round
        last = ring[i]
        if n == limit then return taken, last, counts end
      end
    end
    if n == before then break end
  end
  return taken, last, counts
end
`
