// How an outbound request fails, in words that do not tell a closed port from a forbidden address.

export type OutboundFault =
  /** The URL itself is not allowed. */
  | 'refused'
  /** No connection: unknown name, closed port, no answer, or an address that is not allowed. */
  | 'unreachable'
  | 'timeout'
  | 'too-large'
  | 'redirects'
  /** The other side does not speak HTTP as it should. */
  | 'protocol'

export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  readonly fault: OutboundFault

  constructor(fault: OutboundFault, message: string) {
    super(message)
    this.fault = fault
  }
}

/** Thrown inside the connection; callers only ever see `unreachable`. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused'
  readonly host: string
  readonly address: string
  constructor(host: string, address: string, why: string) {
    super(`${host} is at ${address}: ${why}`)
    this.host = host
    this.address = address
  }
}

/** Of an error of the HTTP client, which fault it is. */
export function faultOf(error: unknown): OutboundFault {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    return 'too-large'
  }
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return 'timeout'
  if (code.startsWith('HPE_') || code.startsWith('Z_') || code.startsWith('ERR_BROTLI')) {
    return 'protocol'
  }
  if (code.startsWith('UND_ERR_RES') || code === 'UND_ERR_INVALID_ARG') return 'protocol'
  return 'unreachable'
}

export const faultMessages: Readonly<Record<OutboundFault, string>> = {
  refused: 'the URL is not allowed',
  unreachable: 'the host cannot be reached or is not allowed',
  timeout: 'the host took too long',
  'too-large': 'the answer is larger than allowed',
  redirects: 'the host redirects too often',
  protocol: 'the answer cannot be understood',
}
