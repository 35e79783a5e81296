// The flags that `plan` and `apply` share.

import type { FlagSpec, Flags } from '../spec.ts'
import { usage } from '../problem.ts'
import type { Given } from './files.ts'

const gather = (text: string, before: string[] | undefined): string[] => [...(before ?? []), text]

export const fileFlags: readonly FlagSpec[] = [
  {
    flags: '-f, --file <path>',
    about: 'a YAML or JSON file, or a folder; may be repeated',
    parse: gather,
  },
  { flags: '--app <label>', about: 'the owner label, instead of what the files say' },
  { flags: '--tenant <name>', about: 'whose they are, for those who see every tenant' },
  { flags: '--keep', about: 'leave jobs of the label alone that are not in the files' },
]

export interface GivenFiles {
  readonly paths: readonly string[]
  readonly given: Given
  readonly orphans: 'archive' | 'keep'
}

export function givenOf(flags: Flags): GivenFiles {
  const paths = (flags['file'] ?? []) as string[]
  if (paths.length === 0) throw usage('which file?', 'such as -f jobs.yaml')
  const given = {
    app: flags['app'] as string | undefined,
    tenant: flags['tenant'] as string | undefined,
  }
  return { paths, given, orphans: flags['keep'] === true ? 'keep' : 'archive' }
}
