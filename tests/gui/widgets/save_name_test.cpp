// Names of files that are saved.
#include "gui/widgets/save_name.hpp"

#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QApplication>
#include <QFile>
#include <QFileDialog>
#include <QMessageBox>
#include <QTemporaryDir>
#include <QTimer>

#include "tests/gui/window.hpp"

namespace tcsim::gui {
namespace {

const char* const pictures = "SVG picture (*.svg);;PNG picture (*.png);;PDF (*.pdf)";

// Types the name into the dialog that comes up, and chooses the filter of this ending, if any.
void answer(const QString& file, const QString& ending) {
  QTimer::singleShot(0, [file, ending] {
    auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    ASSERT_NE(dialog, nullptr);
    for (const QString& filter : dialog->nameFilters()) {
      if (ending.isEmpty() || !filter.contains("*." + ending)) continue;
      dialog->selectNameFilter(filter);
      emit dialog->filterSelected(filter);
    }
    auto* name = dialog->findChild<QLineEdit*>("fileNameEdit");
    ASSERT_NE(name, nullptr);
    name->setText(file);
    QMetaObject::invokeMethod(dialog, "accept");
  });
}

TEST(SaveName, Without_an_ending_has_that_of_the_chosen_filter) {
  const QTemporaryDir folder;
  const auto saved = [&](const char* typed, const char* ending) {
    answer(folder.filePath(typed), ending);
    return saveName(nullptr, "Save", "roofline.svg", pictures);
  };
  EXPECT_EQ(saved("a", ""), folder.filePath("a.svg"));  // the suggested one
  EXPECT_EQ(saved("a", "png"), folder.filePath("a.png"));
  EXPECT_EQ(saved("a", "pdf"), folder.filePath("a.pdf"));
  EXPECT_EQ(saved("a.png", "svg"), folder.filePath("a.png"));  // what is typed counts
}

TEST(SaveName, A_file_that_the_ending_makes_of_it_is_not_replaced_unasked) {
  const QTemporaryDir folder;
  QFile there(folder.filePath("a.png"));
  ASSERT_TRUE(there.open(QIODevice::WriteOnly));
  answer(folder.filePath("a"), "png");
  bool asked = false;
  QTimer look;
  QObject::connect(&look, &QTimer::timeout, [&] {
    if (auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget())) {
      asked = true;
      box->button(QMessageBox::No)->click();
    } else if (auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget())) {
      if (asked) dialog->reject();
    }
  });
  look.start(20);
  EXPECT_EQ(saveName(nullptr, "Save", "roofline.svg", pictures), "");
  EXPECT_TRUE(asked);
}

TEST_F(Window, A_picture_is_exported_without_typing_an_ending) {
  openExample(2);
  answer(folder.filePath("mine"), "png");
  QTest::keyClick(&window, Qt::Key_E, Qt::ControlModifier);
  QFile file(folder.filePath("mine.png"));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_TRUE(file.readAll().startsWith("\x89PNG"));
}

}  // namespace
}  // namespace tcsim::gui
