export {
  type AccountViewer,
  accountPrivateTo,
  canSeeAccount,
  countSharedAccount,
  listAccounts,
  listVisibleAccounts,
  loadAccount,
  uncountSharedAccount,
} from './accounts.ts'
export {
  type Account,
  AccountEntity,
  accountPlace,
  accountsOf,
  person,
  type Thread,
  ThreadEntity,
  threadPlace,
  threadsOf,
} from './entity.ts'
