// What every command waits for is read without white space and comments: to scan them takes a tenth
// of a start. Names stay, and source maps lead to the lines.

import { transform } from 'esbuild'

/** A file of dist. */
export interface Made {
  readonly path: string
  readonly text: string
}

/** Only the program loads these: the library keeps its lines, for those who read its stacks. */
const onlyProgram = /^chunks\/(?:command|local)\.js$/
const mapLink = /\n\/\/# sourceMappingURL=[^\n]+\s*$/

/** The same files, some of them shorter, with maps that still lead to the sources. */
export async function leaned(files: readonly Made[]): Promise<Made[]> {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  for (const { path, text } of files) {
    // A file that only passes on what others export has no lines of its own, and no map.
    if (!onlyProgram.test(path) || !mapLink.test(text)) continue
    const short = await shortened(path, text, texts.get(`${path}.map`)!)
    texts.set(path, short.text)
    texts.set(`${path}.map`, short.map)
  }
  return [...texts].map(([path, text]) => ({ path, text }))
}

async function shortened(path: string, text: string, map: string) {
  const [link] = mapLink.exec(text)!
  const inline = Buffer.from(map).toString('base64')
  const data = `data:application/json;base64,${inline}`
  const { code, map: made } = await transform(
    `${text.slice(0, -link.length)}\n//# sourceMappingURL=${data}`,
    {
      format: 'esm',
      target: 'node20',
      minifyWhitespace: true,
      sourcemap: 'external',
      sourcefile: path,
      legalComments: 'none',
    },
  )
  return { text: code.trimEnd() + link, map: made }
}
