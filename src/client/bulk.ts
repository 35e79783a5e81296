// The end of an operation on many: it is asked about until it is over.

import { wait } from './ambient.ts'
import type { CallOptions } from './transport.ts'
import type { BulkOperation } from './types.ts'

const POLL_MS = 200

export interface BulkReads {
  bulkGet(id: string, options?: CallOptions): Promise<BulkOperation>
}

// oxlint-disable-next-line max-params -- those of the method, and where it reads
export async function endOf(
  reads: BulkReads,
  id: string,
  tell: (operation: BulkOperation) => void = () => {},
  options: CallOptions = {},
): Promise<BulkOperation> {
  for (;;) {
    const operation = await reads.bulkGet(id, options)
    tell(operation)
    if (operation.status !== 'running') return operation
    await wait(POLL_MS, options.signal)
    options.signal?.throwIfAborted()
  }
}
