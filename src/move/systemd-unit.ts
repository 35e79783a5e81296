// The files of systemd: sections of settings, with continued lines and repeated keys.

export interface Setting {
  readonly key: string
  readonly value: string
  readonly line: number
}

export class Unit {
  readonly #settings: readonly (Setting & { readonly section: string })[]

  constructor(text: string) {
    this.#settings = read(text)
  }

  /** In order; an empty value takes back those before it. */
  all(section: string, key: string): Setting[] {
    let found: Setting[] = []
    for (const setting of this.#settings) {
      if (setting.section !== section || setting.key !== key) continue
      if (setting.value === '') found = []
      else found.push(setting)
    }
    return found
  }

  last(section: string, key: string): Setting | null {
    return this.all(section, key).at(-1) ?? null
  }
}

function read(text: string) {
  const settings: (Setting & { section: string })[] = []
  let section = ''
  let held = ''
  let first = 0
  for (const [i, raw] of text.split(/\r?\n/).entries()) {
    const isComment = /^\s*[#;]/.test(raw)
    if (isComment) continue
    if (held === '') first = i + 1
    held += raw.trim()
    if (held.endsWith('\\')) {
      held = `${held.slice(0, -1).trimEnd()} `
      continue
    }
    const line = held
    held = ''
    const named = /^\[(.+)\]$/.exec(line)
    if (named) section = named[1]!
    const at = line.indexOf('=')
    if (named || at <= 0) continue
    settings.push({
      section,
      key: line.slice(0, at).trim(),
      value: line.slice(at + 1).trim(),
      line: first,
    })
  }
  return settings
}

/** Words as systemd parts them: quotes hold them together. */
export function unitWords(text: string): string[] {
  const found = text.match(/(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\\.|[^\s"'\\])+/g) ?? []
  return found.map(word =>
    word.replaceAll(
      /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|\\(.)/g,
      (_, a?: string, b?: string, c?: string) => (a ?? b ?? c ?? '').replaceAll(/\\(.)/g, '$1'),
    ),
  )
}
