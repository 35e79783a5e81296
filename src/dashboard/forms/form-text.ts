// What a form that was sent holds in a field of text.

export function formText(event: Event, name: string): string {
  const value = new FormData(event.target as HTMLFormElement).get(name)
  return typeof value === 'string' ? value.trim() : ''
}
