import type { ComponentChildren } from 'preact'
import { isSuperadmin } from '../account.ts'

/** What only superadmins may do; moderators read that it is so. */
export const ForSuperadmins = ({ what, children }: { what: string; children?: ComponentChildren }) =>
  isSuperadmin.value ? children : <p class="hint">Only a superadmin can {what}.</p>
