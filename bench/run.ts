// `npm run bench`: every benchmark, or one of them with --only NAME.

import { spawnSync } from 'node:child_process'
import process from 'node:process'

const benches: Readonly<Record<string, string>> = {
  cron: 'bench/cron.ts',
  store: 'bench/store/main.ts',
  engine: 'bench/engine/main.ts',
  fair: 'bench/fair.ts',
  http: 'bench/http/main.ts',
  dashboard: 'bench/dashboard/main.ts',
}

const args = process.argv.slice(2)
const at = args.indexOf('--only')
const only = at < 0 ? null : (args[at + 1] ?? '')
const rest = at < 0 ? args : args.filter((_, i) => i !== at && i !== at + 1)
if (only !== null && !Object.hasOwn(benches, only)) {
  console.error(
    `unknown benchmark ${JSON.stringify(only)}; known: ${Object.keys(benches).join(', ')}`,
  )
  process.exit(2)
}
for (const [name, file] of Object.entries(benches)) {
  if (only !== null && only !== name) continue
  if (!rest.includes('--json')) console.log(`\n${name}`)
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', file, ...rest], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}
