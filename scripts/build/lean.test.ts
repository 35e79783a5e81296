import { SourceMap, type SourceMapPayload } from 'node:module'
import { transform } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { leaned } from './lean.ts'

const source = `// Why it is so.
export function careful(limit: number): number {
  // A comment nobody runs.
  return limit + 1
}
`

async function made(path: string) {
  const { code, map } = await transform(source, {
    loader: 'ts',
    sourcemap: 'external',
    sourcefile: 'careful.ts',
  })
  return [
    { path, text: `${code}\n//# sourceMappingURL=${path.split('/').at(-1)}.map` },
    { path: `${path}.map`, text: map },
  ]
}

describe('files that only the program loads', () => {
  it('lose white space and comments, keep names, and lead to the lines they came from', async () => {
    const [code, map] = await leaned(await made('chunks/local.js'))
    expect(code!.text).toBe(
      'function careful(limit){return limit+1}export{careful};\n//# sourceMappingURL=local.js.map',
    )
    const entry = new SourceMap(JSON.parse(map!.text) as SourceMapPayload).findEntry(
      0,
      code!.text.indexOf('return'),
    )
    expect(entry).toMatchObject({ originalSource: 'careful.ts', originalLine: 3 })
  })

  it('stay as they are when they have no map', async () => {
    const facade = [{ path: 'chunks/local.js', text: "export * from './b.js'\n" }]
    expect(await leaned(facade)).toEqual(facade)
  })

  it.each(['index.js', 'chunks/engine.js', 'cli/main.js'])('are not %s', async path => {
    const given = await made(path)
    expect(await leaned(given)).toEqual(given)
  })
})
