// Takes out builtins of Node that cost a start more than they give it.

import type { Plugin } from 'vite'

/** The facade of the module reads all of the global, which opens the three streams: 5 ms. */
const facade = "import process from 'node:process'"

/** What commander needs for subcommands that are programs of their own; we have none: 10 ms. */
const unused = "require('node:child_process')"

export const leanBuiltins: Plugin = {
  name: 'lean-builtins',
  enforce: 'pre',
  transform: code => {
    if (!code.includes(facade) && !code.includes(unused)) return null
    return { code: code.replace(facade, '').replace(unused, '{}'), map: null }
  },
}
