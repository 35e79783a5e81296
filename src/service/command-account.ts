// The commands that jobs run on this machine: under which account, and what people are told of it.

import { readFileSync } from 'node:fs'
import process from 'node:process'
import { findAccount, type CommandAccount } from '../actions/command/account.ts'
import type { ServeConfig } from './config/config.ts'
import { options, optionNames, type Option } from './config/options.ts'

type CommandConfig = Pick<ServeConfig, 'allowCommands' | 'commandUser'>

/** Null when commands run as the service does, or not at all. */
export function commandAccountOf(config: CommandConfig): CommandAccount | null {
  const { allowCommands, commandUser } = config
  if (allowCommands === false || commandUser === null) return null
  const uid = process.getuid?.() ?? null
  const passwd = uid === 0 ? readFileSync('/etc/passwd', 'utf8') : ''
  return findAccount(commandUser, { uid, passwd })
}

/** Null where no commands run. */
export function commandNotice({ allowCommands, commandUser }: CommandConfig): string | null {
  if (allowCommands === false) return null
  const whose = ['admins of every tenant', ...allowCommands.map(tenant => `tenant ${tenant}`)]
  const able =
    commandUser === null
      ? 'they can read everything the user of this service can, see --command-user'
      : `they run as ${commandUser}`
  return `allowed for ${whose.join(', ')}: ${able}`
}

/** Once they are read: handlers and the processes they start need no secrets of the service. */
export function forgetSecrets(): void {
  for (const name of optionNames) {
    const option: Option = options[name]
    if (option.isSecret === true) Reflect.deleteProperty(process.env, option.env)
  }
}
