import { Skeleton } from '../../../ui/screen.tsx'

/** Kept by the browser, since it concerns one person. Private windows may block it, and then the list stays. */
const placeOf = (workspaceId: string): string => `first-run-${workspaceId}`

/** Returns true if the person finished or hid the first steps. */
export const isOver = (workspaceId: string): boolean => {
  try {
    return localStorage.getItem(placeOf(workspaceId)) !== null
  } catch {
    return false
  }
}

export const end = (workspaceId: string): void => {
  try {
    localStorage.setItem(placeOf(workspaceId), 'over')
  } catch {}
}

/** Room for the first steps, so that what is below doesn't move when they are loaded. */
export const FirstRunSkeleton = () => (
  <div class="first-run-room">
    <Skeleton rows={1} tall />
  </div>
)
