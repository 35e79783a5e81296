// Every command by its name, each loaded only when it is asked for. The build follows these imports.

import type { CliCommand } from './command.ts'

type Load = () => Promise<{ readonly command: CliCommand }>

export const commands: Readonly<Record<string, Load>> = {
  add: () => import('./commands/add.ts'),
  apply: () => import('./commands/apply.ts'),
  backfill: () => import('./commands/backfill.ts'),
  backup: () => import('./commands/backup.ts'),
  bench: () => import('./commands/bench.ts'),
  cancel: () => import('./commands/cancel.ts'),
  complete: () => import('./commands/complete.ts'),
  completion: () => import('./commands/completion.ts'),
  config: () => import('./commands/config.ts'),
  dev: () => import('./commands/dev.ts'),
  doctor: () => import('./commands/doctor.ts'),
  edit: () => import('./commands/edit.ts'),
  events: () => import('./commands/events.ts'),
  export: () => import('./commands/export.ts'),
  import: () => import('./commands/import.ts'),
  list: () => import('./commands/list.ts'),
  logs: () => import('./commands/logs.ts'),
  migrate: () => import('./commands/migrate.ts'),
  next: () => import('./commands/next.ts'),
  pause: () => import('./commands/pause.ts'),
  plan: () => import('./commands/plan.ts'),
  prune: () => import('./commands/prune.ts'),
  resume: () => import('./commands/resume.ts'),
  retry: () => import('./commands/retry.ts'),
  rm: () => import('./commands/rm.ts'),
  run: () => import('./commands/run.ts'),
  runs: () => import('./commands/runs.ts'),
  serve: () => import('./commands/serve.ts'),
  show: () => import('./commands/show.ts'),
  source: () => import('./commands/source.ts'),
  store: () => import('./commands/store.ts'),
  tenants: () => import('./commands/tenants.ts'),
  token: () => import('./commands/token.ts'),
  top: () => import('./commands/top.ts'),
  why: () => import('./commands/why.ts'),
  worker: () => import('./commands/worker.ts'),
}
