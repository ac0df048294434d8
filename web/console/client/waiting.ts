import { useEffect } from 'preact/hooks'
import { useData } from '../../ui/data.ts'
import { api, type Schemas, unwrap } from './api.ts'
import { waiting } from './live.ts'

/** States of a task in which its agent needs a person. */
const ASKS: readonly Schemas['Task']['status'][] = ['discuss', 'review']

/** Loads what waits for the user, and keeps the number in the navigation current on every screen. */
export const useWaiting = () => {
  const query = { limit: 100, status: 'awaiting_approval' } as const
  const runs = useData('runs waiting', () => unwrap(api.GET('/console/runs', { params: { query } })))
  const tasks = useData('tasks latest', () => unwrap(api.GET('/console/tasks', { params: { query: { limit: 100 } } })))
  const questions = useData('runs questions', () =>
    unwrap(api.GET('/console/input-requests', { params: { query: { limit: 100 } } })),
  )
  const approvals = runs.data?.items ?? []
  const asking = tasks.data?.items.filter(({ status }) => ASKS.includes(status)) ?? []
  const isLoaded = runs.data !== undefined && tasks.data !== undefined && questions.data !== undefined
  const all = approvals.length + asking.length + (questions.data?.items.length ?? 0)
  useEffect(() => {
    if (isLoaded) waiting.value = all
  }, [isLoaded, all])
  return { runs, tasks, questions, approvals, asking, isEmpty: isLoaded && all === 0 }
}
