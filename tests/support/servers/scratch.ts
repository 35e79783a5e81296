// A temporary folder that goes with this process, whatever ends it.

import { makeFolder, removeFolder } from './folders.ts'
import { guard, release } from './guard.ts'

export interface Scratch {
  readonly folder: string
  readonly remove: () => Promise<void>
}

export async function scratch(name: string): Promise<Scratch> {
  const folder = await makeFolder(name, null)
  guard({ folder, server: null })
  const remove = async () => {
    await removeFolder(folder)
    release(folder)
  }
  return { folder, remove }
}
