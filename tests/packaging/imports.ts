// The modules that a file of a package names, whether it is code or declares types.

import { parseSync } from 'vite'

/** Specifiers of packages and of modules of Node. */
export function importsOf(path: string, text: string): string[] {
  const lang = path.endsWith('.d.ts') ? 'dts' : 'js'
  const { module } = parseSync(path, text, { lang, sourceType: 'module' })
  const late = module.dynamicImports.map(({ moduleRequest: { start, end } }) =>
    text.slice(start, end),
  )
  const inTypes = [...text.matchAll(/\bimport\("([^"\n]+)"\)/g)].map(([, name]) => `"${name}"`)
  const named = [...late, ...(lang === 'dts' ? inTypes : [])]
    .filter(one => /^["']/.test(one))
    .map(one => one.slice(1, -1))
  const found = [
    ...module.staticImports.map(one => one.moduleRequest.value),
    ...module.staticExports.flatMap(one =>
      one.entries.map(({ moduleRequest }) => moduleRequest?.value ?? '.'),
    ),
    ...named,
  ]
  return found.filter(specifier => !specifier.startsWith('.'))
}
