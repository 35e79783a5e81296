// `carillon migrate`: the version of a store's schema, and steps up or down.

import type { Command } from 'commander'
import { addTo, exits, type CliCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { whole } from '../numbers.ts'
import { CliProblem, usage } from '../problem.ts'
import { safe } from '../screen.ts'
import { groups } from '../spec.ts'

const VERSION_MAX = 1_000

export const command: CliCommand = {
  add: program => {
    const migrate = program
      .command('migrate')
      .description('the version of a store, and steps up or down')
      .helpGroup(groups.host)
    addStatus(migrate)
    addUp(migrate)
    addDown(migrate)
    addCheck(migrate)
    addSql(migrate)
  },
}

function addStatus(parent: Command): void {
  addTo(parent, {
    name: 'status',
    group: 'host',
    about: 'which version the store has, and which this program knows; 1 when they differ',
    examples: [['carillon migrate status', 'of the store of this folder']],
    run: async context => {
      const { version, latest, name } = await statusOf(context)
      const words = version === latest ? 'is up to date' : `can go up to ${latest}`
      context.show({ store: name, version, latest }, () => `${name}: version ${version}, ${words}`)
      return version === latest ? exits.ok : exits.failed
    },
  })
}

function addUp(parent: Command): void {
  addTo(parent, {
    name: 'up',
    group: 'host',
    isMutation: true,
    about: 'to the newest version; a store of an earlier layout is moved only by this command',
    examples: [['carillon migrate up --dry-run', 'what would be done']],
    run: async context => {
      const { version, latest, url, name } = await statusOf(context)
      if (context.globals.isDryRun || version === latest) {
        const what = version === latest ? 'nothing to do' : `would go from ${version} to ${latest}`
        context.show({ store: name, version, latest }, () => `${name}: ${what}`)
        return exits.ok
      }
      await step(url, latest)
      context.show({ store: name, version: latest, latest }, () => `${name}: version ${latest}`)
      return exits.ok
    },
  })
}

function addDown(parent: Command): void {
  addTo(parent, {
    name: 'down',
    group: 'host',
    isMutation: true,
    about: 'to an older version, never below the baseline; stop every node first',
    flags: [
      {
        flags: '--to <version>',
        about: 'default: one less; 0 removes everything',
        parse: whole(0, VERSION_MAX),
      },
    ],
    examples: [['carillon migrate down --dry-run', 'what would be done, or why it cannot be']],
    run: async (context, _, flags) => {
      const { version, latest, url, name } = await statusOf(context)
      const to = (flags['to'] as number | undefined) ?? version - 1
      if (to >= version || to < 0)
        throw usage(`the store has version ${version}: ${to} is not down`)
      if (version === latest) await refuseInUseAt(url, name)
      const loses =
        to === 0 ? 'Everything in it is lost' : 'What older versions do not know is lost'
      if (context.globals.isDryRun) {
        context.show(
          { store: name, version, to },
          () => `${name}: would go from ${version} to ${to}`,
        )
        return exits.ok
      }
      const question = `Take ${name} from version ${version} down to ${to}? ${loses}.`
      if (!(await context.confirm(question))) return exits.failed
      await step(url, to)
      context.show({ store: name, version: to, latest }, () => `${name}: version ${to}`)
      return exits.ok
    },
  })
}

function addCheck(parent: Command): void {
  addTo(parent, {
    name: 'check',
    group: 'host',
    about: 'compare the store with a backup made before a migration; 1 when they differ',
    args: [['<backup>', 'a file that carillon backup wrote; it stays as it is']],
    examples: [
      ['carillon backup before.db && carillon migrate up', 'first these'],
      ['carillon migrate check before.db', 'then this, before nodes start'],
    ],
    notes:
      'Compared are all jobs with their status, next times and counts, and all histories. Jobs that ' +
      'ran since the backup are counted as such. It also holds after import intervals.',
    run: async (context, [backup]) => {
      const { storePlace } = await import('../keeping/store.ts')
      const { checkAgainst } = await import('../keeping/check.ts')
      const place = await storePlace(context, 'migrate check')
      const report = await checkAgainst(context, place, backup as string)
      const { jobs, history, differences, is_equal } = report
      context.show({ store: place.name, backup, ...report }, () =>
        [
          `${place.name}: ${jobs.after} jobs (${jobs.before} before), ${jobs.same} as they were, ` +
            `${jobs.went_on} ran since, ${jobs.differing} differ`,
          ...Object.entries(history).map(
            ([name, one]) => `  ${name}: ${one.before} → ${one.after}`,
          ),
          ...differences.map(
            one =>
              `  ! ${safe(one.of)}  ${one.field}: ${String(one.before)} → ${String(one.after)}`,
          ),
        ].join('\n'),
      )
      return is_equal ? exits.ok : exits.failed
    },
  })
}

function addSql(parent: Command): void {
  addTo(parent, {
    name: 'sql',
    group: 'host',
    about:
      'print the SQL that brings a PostgreSQL store up to date, for a role that may not do it itself',
    flags: [{ flags: '--role <name>', about: 'also grant this role what nodes need' }],
    examples: [['carillon migrate sql --role app | psql jobs', 'run by the owner of the database']],
    run: async (context, _, flags) => {
      const { storePlace } = await import('../keeping/store.ts')
      const { migrationScript } = await import('../../compose.ts')
      const { url, name } = await storePlace(context, 'migrate')
      const sql = await migrationScript(url, (flags['role'] as string | undefined) ?? null)
      if (sql === null) throw usage(`${name} is not a PostgreSQL store: it needs no SQL`)
      context.show({ store: name, sql }, () => sql.trimEnd())
      return exits.ok
    },
  })
}

async function statusOf(context: Context) {
  const { storePlace, withMaintenance } = await import('../keeping/store.ts')
  const { url, name } = await storePlace(context, 'migrate')
  return withMaintenance(url, async maintenance => {
    const { latest } = maintenance
    return { version: await maintenance.version(), latest, url, name }
  })
}

async function step(url: string, to: number): Promise<void> {
  const { withMaintenance } = await import('../keeping/store.ts')
  await withMaintenance(url, maintenance => maintenance.migrate(to))
}

async function refuseInUseAt(url: string, name: string): Promise<void> {
  const { withStore } = await import('../keeping/store.ts')
  const { refuseInUse } = await import('../../copy/ready.ts')
  const { SchedulerError } = await import('../../core/errors.ts')
  try {
    await withStore(url, store => refuseInUse({ store, name }))
  } catch (error) {
    if (!(error instanceof SchedulerError) || error.code !== 'STORE_IN_USE') throw error
    throw new CliProblem(exits.state, error.message)
  }
}
