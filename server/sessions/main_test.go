package sessions

import (
	"os"
	"testing"

	"hitchpost/server/leaktest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }
