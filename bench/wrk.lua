-- Sends the requests of a file, one after another, for a number of seconds: wrk … -s wrk.lua URL -- FILE SECONDS
-- CONNECTIONS MODE. With the mode `repeat` it begins again at the end of the file. Each request in the file follows its
-- length in bytes and a line feed. At the end no request is cut off: each connection waits for its last answer, so that
-- the server has done the work of all requests that are counted. The results are one line of JSON on standard error.
local ffi = require('ffi')
ffi.cdef [[
  struct moment { long seconds; long nanoseconds; };
  int clock_gettime(int clock, struct moment *now);
  int getpid(void);
  int kill(int pid, int signal);
]]
local moment = ffi.new('struct moment')
local monotonic, interrupt = 1, 2
local file, length, connections, repeats, endsAt
local resting = 0
local threads = {}
-- The requests that were sent, which `done` reads.
sent = 0

local function now()
  ffi.C.clock_gettime(monotonic, moment)
  return tonumber(moment.seconds) + tonumber(moment.nanoseconds) / 1e9
end

function setup(thread)
  threads[#threads + 1] = thread
end

function init(args)
  file = assert(io.open(args[1], 'rb'))
  length, connections, repeats = tonumber(args[2]), tonumber(args[3]), args[4] == 'repeat'
end

-- wrk calls it before each request of a connection, and `request` once more before all.
function delay()
  local at = now()
  endsAt = endsAt or at + length
  if at < endsAt then
    sent = sent + 1
    return 0
  end
  resting = resting + 1
  -- wrk itself would wait for the end of its duration.
  if resting == connections then ffi.C.kill(ffi.C.getpid(), interrupt) end
  return 1e6
end

function request()
  local size = file:read('*n')
  if not size and repeats then
    file:seek('set')
    size = file:read('*n')
  end
  if not size then error('there are too few requests') end
  file:read(1)
  return file:read(size)
end

function done(summary, latency)
  local errors = summary.errors
  io.stderr:write(string.format(
    '{"sent":%d,"answered":%d,"refused":%d,"failed":%d,"p50Us":%d,"p99Us":%d}\n',
    threads[1]:get('sent'), summary.requests, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99)
  ))
end
