-- Decisions and their answers for wrk, one after the other on every connection: half of the requests are each.
local bodies = {}
local features = tonumber(os.getenv("FEATURES") or 50)
math.randomseed(7)
for i = 1, 200 do
  local parts = {}
  for j = 0, features - 1 do parts[#parts + 1] = string.format('"f%d": %.3f', j, math.random() * 2 - 1) end
  bodies[i] = '{"x": {' .. table.concat(parts, ", ") .. "}}"
end
local at, waiting, base = 0, {}, nil
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
request = function()
  base = base or wrk.path:gsub("/decide$", "")
  local id = table.remove(waiting)
  if id then
    return wrk.format(nil, base .. "/feedback", nil, '{"id": "' .. id .. '", "correct": ' .. tostring(at % 3 == 0) .. "}")
  end
  at = at % #bodies + 1
  return wrk.format(nil, nil, nil, bodies[at])
end
response = function(status, headers, body)
  local id = body:match('"id":"([^"]+)"')
  if id then waiting[#waiting + 1] = id end
end
