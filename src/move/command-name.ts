// What to call a job that was only a command line: the program it is about.

/** Words that only prepare what follows. */
const preparing = new Set([
  'cd',
  '[',
  '[[',
  'test',
  '.',
  'source',
  'export',
  'umask',
  'sleep',
  'set',
])
/** Programs that run another: words of their own besides options, and options with a value. */
const wrappers: Readonly<Record<string, readonly [words: number, valued: string]>> = {
  sudo: [0, '-u -g'],
  nice: [0, '-n'],
  ionice: [0, '-c -n -p'],
  env: [0, '-u'],
  exec: [0, ''],
  time: [0, ''],
  nohup: [0, ''],
  setsid: [0, ''],
  chronic: [0, ''],
  command: [0, ''],
  flock: [1, '-w -E'],
  timeout: [1, '-k -s'],
  'systemd-cat': [0, '-t -p'],
}
const interpreters = /^(?:ba|da|z|k)?sh$|^(?:python|perl|php|ruby|node|deno|bun)[\d.]*$/
const ending = /\.(?:sh|bash|py|pl|php|rb|js|mjs|cjs|ts)$/

export function commandName(line: string): string {
  const parts = line.split(/&&|\|\||[;|()]/).map(part => wordsOf(part))
  const own = parts.find(words => words.length > 0 && !preparing.has(words[0]!)) ?? parts[0] ?? []
  const word = programOf(own) ?? 'job'
  const base = word.split('/').filter(Boolean).at(-1) ?? word
  return base.replace(ending, '')
}

function wordsOf(part: string): string[] {
  const words = part.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? []
  return words.map(word => word.replaceAll(/^["']|["']$/g, '')).filter(word => word !== '')
}

function programOf(words: readonly string[]): string | undefined {
  let at = 0
  while (at < words.length) {
    const word = words[at]!
    const base = word.split('/').at(-1)!
    if (/^\w+=/.test(word)) at += 1
    else if (Object.hasOwn(wrappers, base)) {
      const [own, valued] = wrappers[base]!
      at = behindOptions(words, at + 1, valued.split(' ')) + own
    } else if (interpreters.test(base)) {
      return words[behindOptions(words, at + 1, [])] ?? base
    } else return word
  }
  return words.at(-1)
}

function behindOptions(words: readonly string[], from: number, valued: readonly string[]): number {
  let at = from
  while (at < words.length && words[at]!.startsWith('-')) at += valued.includes(words[at]!) ? 2 : 1
  return at
}
