import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'

/** Describes machine and date of the measurements in one line. Numbers can't be compared without it. */
export const machine = (): string => {
  const model = cpus()[0]?.model.trim() || 'unknown CPU'
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  const load = loadavg()[0]?.toFixed(1) ?? '?'
  const date = new Date().toISOString().slice(0, 10)
  return `${model}, ${availableParallelism()} cores, ${memory}, ${process.platform} ${process.arch}, Node ${process.version}, ${date} (load average ${load} at the start)`
}
