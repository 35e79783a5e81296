// `carillon config check`: what this configuration means, and everything that is wrong with it.

import process from 'node:process'
import { optionNames, options } from '../../service/config/options.ts'
import { addTo, exits, type CliCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { groups } from '../spec.ts'
import { storeName } from '../store-name.ts'

interface Row {
  readonly setting: string
  readonly value: string
  readonly source: string
}

export const command: CliCommand = {
  add: program => {
    const parent = program
      .command('config')
      .description('look at the configuration')
      .helpGroup(groups.host)
    addTo(parent, {
      name: 'check',
      group: 'host',
      about: 'every setting, where it comes from, and everything that is wrong',
      isTable: true,
      examples: [
        ['carillon config check', 'of this folder and environment'],
        ['carillon config check --config prod.config.mjs', 'of another file'],
      ],
      run: check,
    })
  },
}

async function check(context: Context): Promise<number> {
  const { globals } = context
  const { rows, handlers } = await settingsOf(context)
  if (globals.json) {
    context.json(Object.fromEntries(rows.map(({ setting, value }) => [setting, value])))
    return exits.ok
  }
  context.rows(
    [
      { key: 'setting', title: 'SETTING', value: row => row.setting },
      { key: 'value', title: 'VALUE', value: row => row.value, min: 12 },
      { key: 'source', title: 'FROM', value: row => row.source || 'default', drop: 1 },
    ],
    rows,
  )
  if (handlers.length > 0) context.say(`handlers: ${handlers.join(', ')}`)
  context.say('the configuration is valid')
  return exits.ok
}

/** Throws every problem at once. */
async function settingsOf({ globals }: Context) {
  const { readConfigFile } = await import('../../service/config/config-file.ts')
  const { resolveConfig } = await import('../../service/config/config.ts')
  const { env } = process
  const file = await readConfigFile(process.cwd(), globals.config ?? undefined)
  const flags = {
    ...(globals.store === null ? {} : { store: globals.store }),
    ...(globals.data === null ? {} : { data: globals.data }),
  }
  const held = resolveConfig({ flags, env, file }) as unknown as Readonly<Record<string, unknown>>
  const rows: Row[] = optionNames.map(name => {
    const option: { readonly env: string; readonly isSecret?: boolean } = options[name]
    const place = file !== null && Object.hasOwn(file.values, name) ? file.path : ''
    const source = name in flags ? 'flag' : env[option.env] ? option.env : place
    const value = option.isSecret && held[name] != null ? '***' : held[name]
    return { setting: name, value: shown(value), source }
  })
  return { rows, handlers: Object.keys(file?.handlers ?? {}) }
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (typeof value !== 'string') return JSON.stringify(value)
  // Addresses of stores may hold passwords.
  return /^(?:sqlite|redis|rediss|postgres|postgresql):/.test(value) ? storeName(value) : value
}
