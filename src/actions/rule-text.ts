// What a schema says about a value, in the words of all other rules.

export function ruleText(message: string): string {
  const text = message
    .replace(/^Invalid option: expected /, 'must be ')
    .replace(/^Invalid input: expected /, 'must be of type ')
    .replace(/^Invalid option: /, 'must be ')
    .replace(/^Too (?:small|big): expected \w+ to (be|have) /, 'must $1 ')
    .replace('>=', 'at least ')
    .replace('<=', 'at most ')
    .replace(/^must have at least 1 (?:characters|items)$/, 'must not be empty')
  return text.charAt(0).toLowerCase() + text.slice(1)
}
