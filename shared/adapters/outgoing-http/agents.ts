import http from 'node:http'
import https from 'node:https'
import type { Duplex } from 'node:stream'
import tls from 'node:tls'

/**
 * A kept-alive connection is reused within this time, in ms. It is below the 5 s after which common servers close
 * connections (Node's default), so that few requests meet a connection that is being closed.
 */
const MAX_IDLE_MS = 4_000

export interface Agents {
  /** Returns the agent for this scheme, with reused connections or one connection per request. */
  pick(secure: boolean, reuse: boolean): http.Agent
}

/**
 * Creates the agents of one policy. Each policy has its own, so that a connection allowed by one policy is never used
 * under another.
 *
 * @param ca certificates in PEM to trust besides the system's
 */
export const createAgents = (ca: string | undefined): Agents => {
  const trust = {
    // Explicit, because the environment's NODE_TLS_REJECT_UNAUTHORIZED must not disable the check.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca: [...tls.getCACertificates('default'), ca] }),
  }
  const kept = { keepAlive: true, timeout: MAX_IDLE_MS, maxFreeSockets: 64 }
  const made = new Map<string, http.Agent>()
  return {
    pick: (secure, reuse) => {
      const name = `${secure} ${reuse}`
      let agent = made.get(name)
      if (!agent) {
        const options = reuse ? kept : { keepAlive: false }
        agent = secure ? new https.Agent({ ...options, ...trust }) : new http.Agent(options)
        if (reuse) noteIdleTimes(agent)
        made.set(name, agent)
      }
      if (reuse) dropStale(agent)
      return agent
    },
  }
}

const idleSince = new WeakMap<Duplex, number>()

const noteIdleTimes = (agent: http.Agent): void => {
  const keep = agent.keepSocketAlive.bind(agent)
  agent.keepSocketAlive = (socket) => {
    idleSince.set(socket, Date.now())
    return keep(socket)
  }
}

/**
 * Closes connections that were idle for too long by the wall clock. The agent's own timer does not run while Lambda
 * freezes the function. After the thaw, it would fire after the next request starts.
 */
const dropStale = (agent: http.Agent): void => {
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) {
      if (Date.now() - (idleSince.get(socket) ?? 0) > MAX_IDLE_MS) socket.destroy()
    }
  }
}
