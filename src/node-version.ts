// Ends the process with one line on a Node that is too old. Entries import it before anything else, so
// it may use only what old versions have.

const OLDEST = 20

if (Number.parseInt(process.versions.node, 10) < OLDEST) {
  console.error(`Carillon needs Node ${OLDEST} or newer (this is ${process.version})`)
  process.exit(1)
}
