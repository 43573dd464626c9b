from typing import TypeAlias
from stepfold.durable._seal import Seal
from stepfold.durable._secret_store import SecretStore

AnySeal: TypeAlias = Seal | SecretStore
