// The settings of the service as flags, and the configuration they are part of.

import { Option, type Command } from 'commander'
import process from 'node:process'
import type { ConfigFile } from '../service/config/config-file.ts'
import type { ServeConfig } from '../service/config/config.ts'
import {
  flagOf,
  optionNames,
  options,
  type Option as SettingOption,
  type OptionName,
} from '../service/config/options.ts'

/** Adds a flag for each of the settings; a yes or no also has its opposite. */
export function addSettings(command: Command, names: readonly OptionName[] = optionNames): Command {
  for (const name of names) {
    const flag = flagOf(name)
    if (flag === null) continue
    const { form, about, default: value, isValueOptional }: SettingOption = options[name]
    const isSaid = value === null || typeof value === 'boolean'
    const shown = isSaid ? '' : ` (default ${String(value)})`
    if (form === 'yes-no') {
      const isOn = value === true
      command.addOption(new Option(isOn ? `--no-${flag}` : `--${flag}`, describe(about, isOn)))
    } else if (isValueOptional === true) {
      command.addOption(new Option(`--${flag} [value]`, about))
    } else {
      command.addOption(new Option(`--${flag} <value>`, `${about}${shown}`))
    }
  }
  return command.option('--config <file>', 'a configuration file (default carillon.config.*)')
}

function describe(about: string, isOn: boolean): string {
  return isOn ? `do not ${about}` : about
}

export interface Configured {
  readonly config: ServeConfig
  readonly file: ConfigFile | null
}

/** Flags that were not written are not given: commander fills in the opposite of `--no-…`. */
export async function configured(command: Command): Promise<Configured> {
  const { readConfigFile } = await import('../service/config/config-file.ts')
  const { resolveConfig } = await import('../service/config/config.ts')
  const given = command.opts<Record<string, unknown>>()
  const flags: Partial<Record<OptionName, unknown>> = {}
  for (const name of optionNames) {
    const key = attributeOf(name)
    if (key !== null && command.getOptionValueSource(key) === 'cli') flags[name] = given[key]
  }
  const named = typeof given['config'] === 'string' ? given['config'] : undefined
  const file = await readConfigFile(process.cwd(), named)
  return { config: resolveConfig({ flags, env: process.env, file }), file }
}

/** How commander calls the value of a flag: `jwks-url` → `jwksUrl`. */
function attributeOf(name: OptionName): string | null {
  const flag = flagOf(name)
  return flag === null
    ? null
    : flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
