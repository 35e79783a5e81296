-- Answers about jobs.

-- @include codec

-- Number, row, lease and definition of each. A row that is missing while there is a definition is
-- damaged, not gone.
local function addJobs(reply, seqs)
  local rows, leases = fetch('HMGET', 'jobs', seqs), fetch('HMGET', 'leases', seqs)
  local definitions = fetch('HMGET', 'definitions', seqs)
  for i = 1, #seqs do
    if rows[i] or definitions[i] then
      for _, text in ipairs({ seqs[i], rows[i] or '', leases[i] or '', definitions[i] or '' }) do
        reply[#reply + 1] = text
      end
    end
  end
  return reply
end

-- '-' is anything; behind '=' is the value that is wanted.
local function isWanted(wanted, value) return wanted == '-' or sub(wanted, 2) == value end
