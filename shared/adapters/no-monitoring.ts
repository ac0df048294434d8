import type { Monitoring } from '../kernel/ports/monitoring.ts'

const refuse = (): never => {
  throw new Error('this function does not declare the capability metrics:read')
}

/** Stand-in for functions that read no alarms. */
export const noMonitoring: Monitoring = { alarms: refuse, series: refuse }
