import type { ComponentChildren } from 'preact'
import { isSuperadmin } from '../account.ts'

/** Shows its children to superadmins, and a note to moderators. */
export const ForSuperadmins = ({ what, children }: { what: string; children?: ComponentChildren }) =>
  isSuperadmin.value ? children : <p class="hint">Only a superadmin can {what}.</p>
