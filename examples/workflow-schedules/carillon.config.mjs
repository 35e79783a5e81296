// Code that the steps of workflows may name.

let tries = 0

export default {
  handlers: {
    collect: ({ payload }) => ({ orders: 3, day: payload.day }),
    // The first try fails, so that the schedule has something to retry.
    report: ({ payload }) => {
      if (++tries === 1) throw new Error('the printer is out of paper')
      return `${payload.orders} orders on ${payload.day}`
    },
  },
}
