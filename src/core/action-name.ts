// The names of built-in actions. They are reserved: only the writer of actions makes jobs for them.

export const ACTION_PREFIX = 'action:'

export function isActionName(handler: string): boolean {
  return handler.startsWith(ACTION_PREFIX)
}
