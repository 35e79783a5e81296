// `carillon backup`: everything a store holds in one file, while nodes go on.

import { define, exits } from '../command.ts'
import { usage } from '../problem.ts'

export const command = define({
  name: 'backup',
  group: 'host',
  about: 'everything a store holds in one file, checked, while nodes go on',
  args: [['<file>', 'a file that is not there yet; it is a SQLite store itself']],
  flags: [{ flags: '--force', about: 'replace a file that is there' }],
  isMutation: true,
  examples: [
    ['carillon backup jobs-2026-11-16.db', 'the store of this folder'],
    ['carillon backup jobs.db --store postgres://db.example.com/jobs', 'another store'],
    ['carillon store copy sqlite:jobs.db postgres://db.example.com/jobs', 'and back'],
  ],
  notes:
    'Restore with carillon store copy, or use the file as a store. Crawled pages, rows of sources ' +
    'and the secret for tokens lie outside of the store.',
  run: async (context, [file], flags) => {
    const { existsSync } = await import('node:fs')
    const { storePlace } = await import('../keeping/store.ts')
    const { entryTypes } = await import('../../core/stored/entry.ts')
    const path = file as string
    if (existsSync(path) && flags['force'] !== true) {
      throw usage(`${path} is there already`, 'choose another name, or give --force')
    }
    const place = await storePlace(context, 'backup')
    if (context.globals.isDryRun) {
      context.show({ dry_run: true, store: place.name, file: path }, () => {
        return `would write ${place.name} to ${path}`
      })
      return exits.ok
    }
    const { backUp } = await import('../keeping/backup.ts')
    const report = await backUp(context, place, path)
    context.show(report, () => {
      const counts = entryTypes
        .filter(type => report.sums[type].count > 0)
        .map(type => `${report.sums[type].count} ${type}`)
      return `${path}: ${report.bytes.toLocaleString('en')} bytes, ${counts.join(', ') || 'empty'}`
    })
    if (report.isOlder) {
      context.say(
        'checked: a copy of it was migrated and read; the file has the version of the store',
      )
      return exits.ok
    }
    context.say(
      report.isCompared
        ? 'checked: intact, and equal to the store'
        : 'checked: intact; the store was written to meanwhile, so there was nothing to compare',
    )
    return exits.ok
  },
})
