import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What is measured. Every request has a code or token of its own. */
export const OPERATIONS = ['authorization_code', 'refresh_token', 'introspection'] as const
export type Operation = (typeof OPERATIONS)[number]

/** What was asked of a store: calls, and the records that they read and wrote. */
export interface StoreUse {
  calls: number
  reads: number
  writes: number
}

/** Requests that are ready to be sent: forms, to one path. */
export interface Prepared {
  path: string
  bodies: string[]
}

/** A server under measurement. */
export interface Side {
  listener: RequestListener
  /** Counted since the start. */
  use: StoreUse
  prepare(operation: Operation, count: number): Promise<Prepared>
}

/** What the two processes say to each other, beside the HTTP requests. */
export type Command = { ask: 'prepare'; operation: Operation; count: number } | { ask: 'begin' } | { ask: 'end' }

/** From `begin` to `end`: microseconds of CPU of the whole process, user and system, and what its store was asked. */
export interface Spent extends StoreUse {
  cpu: number
}

/** The frame of a process that serves one side: HTTP over the loopback interface, orders over the parent's channel. */
export const serveSide = async (make: (baseUrl: string) => Promise<Side>): Promise<void> => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const side = await make(baseUrl)
  server.on('request', side.listener)
  let [cpu, use] = [process.cpuUsage(), { ...side.use }]
  const obey = async (command: Command): Promise<unknown> => {
    if (command.ask === 'prepare') return side.prepare(command.operation, command.count)
    if (command.ask === 'begin') {
      cpu = process.cpuUsage()
      use = { ...side.use }
      return {}
    }
    const { user, system } = process.cpuUsage(cpu)
    const { calls, reads, writes } = side.use
    const spent: Spent = {
      cpu: user + system,
      calls: calls - use.calls,
      reads: reads - use.reads,
      writes: writes - use.writes,
    }
    return spent
  }
  process.on('message', async (command: Command) => process.send?.(await obey(command)))
  process.on('disconnect', () => process.exit())
  process.send?.({ baseUrl })
}
