-- A page of all entries of one type, from a mark on; begins with the mark of the next page, '' at the
-- end. Each entry is the list of texts that `load.lua` takes.

-- @include attempts
-- @include names
-- @include records

-- Jobs looked at for logs, and kinds of records, in one page.
local LOOK = 500

local kind, mark, limit = take(), take(), takeNumber()
local reply, pages = { '' }, {}
local function add(...) reply[#reply + 1] = { ... } end
local function isFull() return #reply > limit end

-- Calls back with number and id of so many jobs from a number on; answers with the number behind them.
local function eachJob(from, count, visit)
  local seqs = call('ZRANGEBYSCORE', key('jobs:all'), from == '' and '-inf' or from, '+inf',
    'LIMIT', 0, count)
  for i, row in ipairs(fetch('HMGET', 'jobs', seqs)) do
    local h = decodeRow(row)
    if h ~= DAMAGED then visit(seqs[i], h.id) end
    if isFull() then break end
  end
  return #seqs == count and sequenceText(tonumber(seqs[#seqs]) + 1) or ''
end

-- There are few queues: all are read.
pages.queue = function()
  local lanes, isPaused, names = {}, {}, {}
  local turns = call('HGETALL', key('queues:turn'))
  for i = 1, #turns, 2 do lanes[turns[i]] = turns[i + 1] end
  for _, queue in ipairs(call('SMEMBERS', key('queues:paused'))) do
    isPaused[queue], lanes[queue] = true, lanes[queue] or ''
  end
  for queue in pairs(lanes) do
    if isBefore(mark, queue) then insert(names, queue) end
  end
  sort(names, isBefore)
  for _, queue in ipairs(names) do
    if isFull() then return reply[#reply][1] end
    add(queue, isPaused[queue] and '1' or '0', lanes[queue])
  end
end

pages.skip = function()
  local from = tonumber(mark) or 0
  local list = call('ZRANGE', key('skips:by-expiry'), from, from + limit - 1, 'WITHSCORES')
  for i = 1, #list, 2 do
    local seq, first = match(list[i], '^(%d+)%z(%-?%d+)$')
    local h = storedRow(seq)
    local text = call('ZRANGEBYSCORE', key(skipsKey(seq)), first, first)[1]
    if h ~= DAMAGED and text then add(h.id, first, list[i + 1], text) end
  end
  return #list == 2 * limit and int(from + limit) or ''
end

pages.progress = function()
  if call('EXISTS', key('progress')) == 0 then return '' end
  return eachJob(mark, limit, function(seq, id)
    local text = call('HGET', key('progress'), seq)
    if text then add(id, text) end
  end)
end

-- Job by job, attempt by attempt; the mark names the next line.
pages.log = function()
  local first, n, attempt = match(mark, '^(%d+) (%d+) (.*)$')
  local next
  local behind = eachJob(first or '', LOOK, function(seq, id)
    local names = call('SMEMBERS', key(logNamesKey(seq)))
    sort(names, isBefore)
    for _, name in ipairs(names) do
      local isPast = seq == first and isBefore(name, attempt)
      if not isPast and not isFull() then
        local from = seq == first and name == attempt and tonumber(n) or 0
        local lines = call('LRANGE', key(logKey(name)), from, from + limit - #reply)
        for i, text in ipairs(lines) do add(id, name, int(from + i - 1), text) end
        next = seq .. ' ' .. int(from + #lines) .. ' ' .. name
      end
    end
  end)
  if isFull() then return next end
  return behind == '' and '' or behind .. ' 0 '
end

pages.pruned = function()
  local last, from = match(mark, '^([^%z]*)%z(.*)$')
  for _, tenant in ipairs(call('ZRANGEBYLEX', key('pruned:tenants'), last and '[' .. last or '-', '+',
    'LIMIT', 0, limit + 1)) do
    local name = 'pruned:by-tenant:' .. tenant
    local fields = call('HKEYS', key(name))
    sort(fields, isBefore)
    for _, field in ipairs(fields) do
      if tenant ~= last or isBefore(from, field) then
        add(tenant, field, call('HGET', key(name), field))
        if isFull() then return tenant .. NUL .. field end
      end
    end
  end
end

pages.record = function()
  local last, from = match(mark, '^([^%z]*)%z(.*)$')
  local kinds, look = call('SMEMBERS', key('record-kinds')), 0
  sort(kinds, isBefore)
  for _, name in ipairs(kinds) do
    if not last or not isBefore(name, last) then
      look = look + 1
      if look > LOOK then return name .. NUL end
      local room = limit + 1 - #reply
      local list = call('ZRANGEBYLEX', key(recordNamesKey(name)), name == last and '(' .. from or '-', '+',
        'LIMIT', 0, room)
      for i, text in ipairs(fetch('HMGET', recordsKey(name), list)) do
        if text then add(name, list[i], '', text) end
      end
      if #list == room then return name .. NUL .. list[room] end
    end
  end
end

reply[1] = pages[kind]() or ''
return reply
