import type { Monitoring } from '../domain/ports.ts'

const refuse = (): never => {
  throw new Error('this function does not declare the capability metrics:read')
}

/** For functions that look at no alarms. */
export const noMonitoring: Monitoring = { alarms: refuse, series: refuse }
