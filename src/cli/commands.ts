// Every command by its name. What they are takes little to load, so help has all of them at once;
// what one needs to run it imports when it runs.

import type { CliCommand } from './command.ts'
import { command as add } from './commands/add.ts'
import { command as apply } from './commands/apply.ts'
import { command as backfill } from './commands/backfill.ts'
import { command as backup } from './commands/backup.ts'
import { command as bench } from './commands/bench.ts'
import { command as cancel } from './commands/cancel.ts'
import { command as complete } from './commands/complete.ts'
import { command as completion } from './commands/completion.ts'
import { command as config } from './commands/config.ts'
import { command as dev } from './commands/dev.ts'
import { command as doctor } from './commands/doctor.ts'
import { command as edit } from './commands/edit.ts'
import { command as events } from './commands/events.ts'
import { command as exporting } from './commands/export.ts'
import { command as importing } from './commands/import.ts'
import { command as list } from './commands/list.ts'
import { command as logs } from './commands/logs.ts'
import { command as migrate } from './commands/migrate.ts'
import { command as next } from './commands/next.ts'
import { command as pause } from './commands/pause.ts'
import { command as plan } from './commands/plan.ts'
import { command as prune } from './commands/prune.ts'
import { command as resume } from './commands/resume.ts'
import { command as retry } from './commands/retry.ts'
import { command as rm } from './commands/rm.ts'
import { command as run } from './commands/run.ts'
import { command as runs } from './commands/runs.ts'
import { command as serve } from './commands/serve.ts'
import { command as show } from './commands/show.ts'
import { command as source } from './commands/source.ts'
import { command as store } from './commands/store.ts'
import { command as tenants } from './commands/tenants.ts'
import { command as token } from './commands/token.ts'
import { command as top } from './commands/top.ts'
import { command as why } from './commands/why.ts'
import { command as worker } from './commands/worker.ts'

export const commands: Readonly<Record<string, CliCommand>> = {
  add,
  apply,
  backfill,
  backup,
  bench,
  cancel,
  complete,
  completion,
  config,
  dev,
  doctor,
  edit,
  events,
  export: exporting,
  import: importing,
  list,
  logs,
  migrate,
  next,
  pause,
  plan,
  prune,
  resume,
  retry,
  rm,
  run,
  runs,
  serve,
  show,
  source,
  store,
  tenants,
  token,
  top,
  why,
  worker,
}
